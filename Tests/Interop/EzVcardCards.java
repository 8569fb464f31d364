import ezvcard.Ezvcard;
import ezvcard.VCard;
import ezvcard.property.Address;
import ezvcard.property.Email;
import ezvcard.property.Note;
import ezvcard.property.StructuredName;
import ezvcard.property.Telephone;
import ezvcard.util.PartialDate;
import java.io.File;
import java.io.PrintStream;
import java.text.SimpleDateFormat;
import java.util.ArrayList;
import java.util.Date;
import java.util.List;

/** Prints what ez-vcard reads from a file of vCards, as one line of JSON per card. */
public class EzVcardCards {
    public static void main(String[] arguments) throws Exception {
        PrintStream out = new PrintStream(System.out, false, "UTF-8");
        for (VCard card : Ezvcard.parse(new File(arguments[0])).all()) {
            List<String> formatted = new ArrayList<>();
            if (card.getFormattedName() != null) formatted.add(card.getFormattedName().getValue());
            List<String> phones = new ArrayList<>();
            for (Telephone each : card.getTelephoneNumbers()) phones.add(each.getText());
            List<String> mails = new ArrayList<>();
            for (Email each : card.getEmails()) mails.add(each.getValue());
            List<String> addresses = new ArrayList<>();
            for (Address each : card.getAddresses()) {
                addresses.add(array(List.of(
                    each(each.getPoBoxes()), each(each.getExtendedAddresses()), each(each.getStreetAddresses()),
                    each(each.getLocalities()), each(each.getRegions()), each(each.getPostalCodes()),
                    each(each.getCountries()))));
            }
            List<String> notes = new ArrayList<>();
            for (Note each : card.getNotes()) if (notes.isEmpty()) notes.add(each.getValue());
            List<String> birthdays = new ArrayList<>();
            if (card.getBirthday() != null) {
                PartialDate partial = card.getBirthday().getPartialDate();
                Date date = card.getBirthday().getDate();
                if (partial != null) birthdays.add(partial.toISO8601(true));
                else if (date != null) birthdays.add(new SimpleDateFormat("yyyy-MM-dd").format(date));
            }
            out.println("{\"FN\":" + array(formatted) + ",\"N\":" + array(name(card.getStructuredName())) + ",\"TEL\":"
                + array(phones) + ",\"EMAIL\":" + array(mails) + ",\"ADR\":[" + String.join(",", addresses)
                + "],\"ORG\":"
                + array(card.getOrganization() == null ? List.of() : card.getOrganization().getValues()) + ",\"BDAY\":"
                + array(birthdays) + ",\"NOTE\":" + array(notes) + "}");
        }
        out.flush();
    }

    private static List<String> name(StructuredName name) {
        if (name == null) return List.of("", "", "", "", "");
        return List.of(
            name.getFamily() == null ? "" : name.getFamily(), name.getGiven() == null ? "" : name.getGiven(),
            each(name.getAdditionalNames()), each(name.getPrefixes()), each(name.getSuffixes()));
    }

    private static String each(List<String> values) {
        return String.join(",", values);
    }

    private static String array(List<String> values) {
        List<String> texts = new ArrayList<>();
        for (String value : values) texts.add(text(value == null ? "" : value));
        return "[" + String.join(",", texts) + "]";
    }

    private static String text(String value) {
        StringBuilder text = new StringBuilder("\"");
        for (char each : value.toCharArray()) {
            if (each == '"' || each == '\\') text.append('\\').append(each);
            else if (each < 0x20) text.append(String.format("\\u%04x", (int) each));
            else text.append(each);
        }
        return text.append('"').toString();
    }
}
